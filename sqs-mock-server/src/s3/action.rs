//! The operations of S3 that there are here.

use std::fmt;

/// One enum of all operations, their names and how to find one.
macro_rules! actions {
    ($( $name:ident )*) => {
        /// An operation of S3 that the server has.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum S3Action {
            $( #[doc = concat!("`", stringify!($name), "`.")] $name, )*
        }

        impl S3Action {
            /// All of them, by name.
            pub const ALL: &'static [Self] = &[ $( Self::$name, )* ];

            /// Its name as AWS has it, such as `GetObject`.
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
    /// The operation of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

impl fmt::Display for S3Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
