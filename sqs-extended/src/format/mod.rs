//! The format of AWS's libraries for Java and Python: pointers in messages and in receipt handles. Pure.

pub(crate) mod message;
pub(crate) mod pointer;
pub(crate) mod sizes;
