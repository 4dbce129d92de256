//! The declaration of a set of counters: each is written once, with its documentation, and stands
//! in the set and in its reading.

/// Declares a set of counters and the struct of its reading, whose fields have the same names.
///
/// A set may belong to something, `of` which its reading holds a clone:
///
/// ```
/// use yearbook_counters::{Counter, Metric as _, TimeCounter, counters};
///
/// counters! {
///     /// Counters of a mirror.
///     #[derive(Debug)]
///     pub struct MirrorMetrics of mirror: String;
///
///     /// Counters of a mirror at one moment.
///     #[derive(Clone, Debug, PartialEq)]
///     pub struct MirrorReading {
///         /// Downloads.
///         downloads: Counter,
///         /// Time that they took, together.
///         time: TimeCounter,
///     }
/// }
///
/// let metrics = MirrorMetrics::new("north".to_owned());
/// metrics.downloads.increment();
/// assert_eq!((metrics.read().downloads, metrics.read().mirror), (1, "north".to_owned()));
/// ```
#[macro_export]
macro_rules! counters {
    (
        $(#[$attribute:meta])* $vis:vis struct $Counters:ident of $subject:ident: $Subject:ty;
        $(#[$of_reading:meta])* $read_vis:vis struct $Reading:ident {
            $($(#[$of_field:meta])* $field:ident: $Metric:ty,)*
        }
    ) => {
        $crate::counters! {
            @structs [$subject: $Subject]
            $(#[$attribute])* $vis struct $Counters;
            $(#[$of_reading])* $read_vis struct $Reading {
                $($(#[$of_field])* $field: $Metric,)*
            }
        }

        impl $Counters {
            /// Counters at zero.
            pub(crate) fn new($subject: $Subject) -> Self {
                Self { $subject, $($field: Default::default(),)* }
            }
        }
    };
    (
        $(#[$attribute:meta])* $vis:vis struct $Counters:ident;
        $($reading:tt)*
    ) => {
        $crate::counters! {
            @structs []
            $(#[$attribute])* $vis struct $Counters;
            $($reading)*
        }
    };
    (
        @structs [$($subject:ident: $Subject:ty)?]
        $(#[$attribute:meta])* $vis:vis struct $Counters:ident;
        $(#[$of_reading:meta])* $read_vis:vis struct $Reading:ident {
            $($(#[$of_field:meta])* $field:ident: $Metric:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $vis struct $Counters {
            $(pub(crate) $subject: $Subject,)?
            $($(#[$of_field])* pub(crate) $field: $Metric,)*
        }

        $(#[$of_reading])*
        $read_vis struct $Reading {
            $(
                #[doc = concat!("The ", stringify!($subject), ".")]
                pub $subject: $Subject,
            )?
            $($(#[$of_field])* pub $field: <$Metric as $crate::Metric>::Reading,)*
        }

        impl $crate::Metric for $Counters {
            type Reading = $Reading;

            fn read(&self) -> $Reading {
                $Reading {
                    $($subject: self.$subject.clone(),)?
                    $($field: $crate::Metric::read(&self.$field),)*
                }
            }
        }
    };
}
