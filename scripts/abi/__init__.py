"""What is made from include/kvstore.h: see scripts/generate_abi.py."""
