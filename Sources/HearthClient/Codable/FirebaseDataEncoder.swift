public import Foundation

/// The encoding strategies of ``Firestore/Encoder``.
public enum FirebaseDataEncoder {
    /// The strategy for encoding `Date` values.
    public enum DateEncodingStrategy {
        /// Encodes a timestamp value, rounded to the nearest microsecond.
        case timestamp
        /// Uses the `Encodable` implementation of `Date`: seconds since 2001-01-01.
        case deferredToDate
        /// Encodes seconds since 1970-01-01 as a double.
        case secondsSince1970
        /// Encodes milliseconds since 1970-01-01 as a double.
        case millisecondsSince1970
        /// Encodes an ISO 8601 string in UTC with a resolution of seconds.
        case iso8601
        /// Encodes a string with a formatter.
        case formatted(DateFormatter)
        /// Encodes with a closure.
        case custom((Date, any Swift.Encoder) throws -> Void)
    }

    /// The strategy for encoding `Data` values.
    public enum DataEncodingStrategy {
        /// Encodes a bytes value.
        case blob
        /// Uses the `Encodable` implementation of `Data`: an array of integers.
        case deferredToData
        /// Encodes a Base64 string.
        case base64
        /// Encodes with a closure.
        case custom((Data, any Swift.Encoder) throws -> Void)
    }

    /// The strategy for encoding NaN and infinity.
    public enum NonConformingFloatEncodingStrategy {
        /// Throws an `EncodingError`, although documents can contain these values.
        case `throw`
        /// Encodes the given strings.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The strategy for converting coding keys to field names. Dictionary keys are not converted.
    public enum KeyEncodingStrategy {
        /// Uses the coding keys unchanged.
        case useDefaultKeys
        /// Converts camel case to snake case: `coverImage` to `cover_image`.
        case convertToSnakeCase
        /// Converts with a closure, which receives the path from the root to the key.
        case custom(([any CodingKey]) -> any CodingKey)
    }
}
