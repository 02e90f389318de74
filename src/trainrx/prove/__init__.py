"""A changed launch, made on a copy and tried."""
