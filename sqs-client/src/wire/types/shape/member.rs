//! The code that each kind of member generates: types, getter, setters and conversion in `build`.

/// Type of a member in the struct.
macro_rules! member_type {
    (opt [$t:ident]) => { Option<Vec<$t>> };
    (req [$t:ident]) => { Vec<$t> };
    (opt {$k:ident : $v:ident}) => { Option<std::collections::HashMap<$k, $v>> };
    (opt str) => { Option<String> };
    (req str) => { String };
    (opt blob) => { Option<Blob> };
    (opt $t:ident) => { Option<$t> };
    (req $t:ident) => { $t };
}

/// Type of a member in the builder. Every member is optional until `build`.
macro_rules! stored_type {
    (req [$t:ident]) => { Option<Vec<$t>> };
    (req str) => { Option<String> };
    (req $t:ident) => { Option<$t> };
    ($card:ident $t:tt) => { member_type!($card $t) };
}

/// Getter of a member. The signature matches aws-sdk-sqs.
macro_rules! getter {
    ([$($m:tt)*] $f:ident opt [$t:ident]) => {
        $($m)*
        /// Empty when absent.
        pub fn $f(&self) -> &[$t] { self.$f.as_deref().unwrap_or_default() }
    };
    ([$($m:tt)*] $f:ident req [$t:ident]) => { $($m)* pub fn $f(&self) -> &[$t] { &self.$f } };
    ([$($m:tt)*] $f:ident opt {$k:ident : $v:ident}) => {
        $($m)* pub fn $f(&self) -> Option<&std::collections::HashMap<$k, $v>> { self.$f.as_ref() }
    };
    ([$($m:tt)*] $f:ident opt str) => { $($m)* pub fn $f(&self) -> Option<&str> { self.$f.as_deref() } };
    ([$($m:tt)*] $f:ident req str) => { $($m)* pub fn $f(&self) -> &str { &self.$f } };
    ([$($m:tt)*] $f:ident opt blob) => { $($m)* pub fn $f(&self) -> Option<&Blob> { self.$f.as_ref() } };
    ([$($m:tt)*] $f:ident opt $t:ident) => { $($m)* pub fn $f(&self) -> Option<$t> { self.$f } };
    ([$($m:tt)*] $f:ident req $t:ident) => { $($m)* pub fn $f(&self) -> $t { self.$f } };
}

/// Parameter type of a single value. Text accepts `impl Into<String>`.
macro_rules! param {
    (String) => { impl Into<String> };
    (str) => { impl Into<String> };
    (blob) => { Blob };
    ($t:ident) => { $t };
}

macro_rules! convert {
    ($value:ident String) => {
        $value.into()
    };
    ($value:ident str) => {
        $value.into()
    };
    ($value:ident $t:ident) => {
        $value
    };
}

/// The setter that takes a value, an element, or a key and a value. `$place` is the path to the builder's fields.
macro_rules! setter {
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident [$t:ident]) => {
        $($m)*
        /// Appends one element. The `set_` method replaces the whole list.
        pub fn $f(mut $self, input: param!($t)) -> Self {
            crate::types::shape::push(&mut $($place)*.$f, convert!(input $t));
            $self
        }
    };
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident {$k:ident : $v:ident}) => {
        $($m)*
        /// Adds one entry. The `set_` method replaces the whole map.
        pub fn $f(mut $self, k: param!($k), v: param!($v)) -> Self {
            crate::types::shape::insert(&mut $($place)*.$f, convert!(k $k), convert!(v $v));
            $self
        }
    };
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident $t:ident) => {
        $($m)* pub fn $f(mut $self, input: param!($t)) -> Self {
            $($place)*.$f = Some(convert!(input $t));
            $self
        }
    };
}

/// The three methods of a member on a builder: `x`, `set_x`, `get_x`.
macro_rules! builder_methods {
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident $t:tt) => {
        setter!([$($m)*] ($self $($place)*) $f $card $t);
        pastey::paste! {
            #[doc = concat!("Sets or clears `", stringify!($f), "`.")]
            pub fn [<set_ $f>](mut $self, input: stored_type!($card $t)) -> Self {
                $($place)*.$f = input;
                $self
            }
            #[doc = concat!("Returns the current value of `", stringify!($f), "`.")]
            pub fn [<get_ $f>](&$self) -> &stored_type!($card $t) {
                &$($place)*.$f
            }
        }
    };
}

/// The value of a member in `build`. A missing required text or list is an error.
macro_rules! require {
    ($value:expr, $f:ident, $name:ident, req [$t:ident]) => { require!(@missing $value, $f, $name) };
    ($value:expr, $f:ident, $name:ident, req str) => { require!(@missing $value, $f, $name) };
    ($value:expr, $f:ident, $name:ident, $card:ident $t:tt) => { relax!($value, $card $t) };
    (@missing $value:expr, $f:ident, $name:ident) => {
        $value.ok_or_else(|| aws_smithy_types::error::operation::BuildError::missing_field(
            stringify!($f),
            concat!(stringify!($f), " was not specified but it is required when building ", stringify!($name)),
        ))?
    };
}

/// The value of a member in `build`. A missing required member becomes its default.
macro_rules! relax {
    ($value:expr, req $t:tt) => {
        $value.unwrap_or_default()
    };
    ($value:expr, opt $t:tt) => {
        $value
    };
}

/// A member as the setters of aws-sdk-sqs take it: all are optional there.
#[cfg(feature = "aws-sdk-sqs")]
macro_rules! to_setter {
    (opt $value:expr) => {
        $value
    };
    (req $value:expr) => {
        Some($value)
    };
}
