mod credits;
mod pause;
