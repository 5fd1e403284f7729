"""From an SDL with Amplify's directives to models, and from models to the schema of the API."""
