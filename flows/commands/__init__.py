"""The commands of the command line, one module a group; heavy imports wait inside them."""
