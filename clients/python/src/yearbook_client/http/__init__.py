"""HTTP: one request at a time, without and with retries. Knows no dataset."""
