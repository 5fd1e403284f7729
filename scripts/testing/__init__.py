"""What `make test` runs, how it runs, and what is known of earlier runs."""
