"""The command line `python -m yearbook_client`. Owns arguments, what is printed and exit codes;
every verb is the client's."""
