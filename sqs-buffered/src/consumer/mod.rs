mod back_off;
mod groups;
