"""The themes of the small run that the tests of flows share."""

THEMES = ("flight-booking", "penguin-field", "chess-openings", "currency-exchange", "weather-obs")
