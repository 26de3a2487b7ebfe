"""Binary messages → the records that the text parsers yield."""
