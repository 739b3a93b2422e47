//! The S3 operations that the server implements.

use std::fmt;

/// Declares the enum of operations and their names.
macro_rules! actions {
    ($( $name:ident )*) => {
        /// An operation of S3 that the server implements.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum S3Action {
            $( #[doc = concat!("`", stringify!($name), "`.")] $name, )*
        }

        impl S3Action {
            /// All operations, ordered by name.
            pub const ALL: &'static [Self] = &[ $( Self::$name, )* ];

            /// The name that AWS uses, such as `GetObject`.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$name => stringify!($name), )*
                }
            }
        }
    };
}

actions! {
    AbortMultipartUpload
    CompleteMultipartUpload
    CreateBucket
    CreateMultipartUpload
    DeleteBucket
    DeleteObject
    DeleteObjects
    GetBucketLocation
    GetObject
    HeadBucket
    HeadObject
    ListBuckets
    ListMultipartUploads
    ListObjectsV2
    PutObject
    UploadPart
}

impl S3Action {
    /// The operation with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

impl fmt::Display for S3Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
