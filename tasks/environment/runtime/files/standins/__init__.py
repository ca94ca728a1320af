"""Small stand-ins, standard library only, for packages that foreign code is written against."""
