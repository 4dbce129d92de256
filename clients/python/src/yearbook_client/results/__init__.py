"""Tables of each kind, made of the files of a pull. Each module owns one kind; none sends
anything."""
