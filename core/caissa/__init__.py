"""The game of Caissa; `game` lists what it gives, `variants` may be imported without compiling."""
