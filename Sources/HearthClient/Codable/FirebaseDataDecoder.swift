public import Foundation

/// The decoding strategies of ``Firestore/Decoder``.
public enum FirebaseDataDecoder {
    /// The strategy for decoding `Date` values.
    public enum DateDecodingStrategy {
        /// Decodes a timestamp value.
        case timestamp
        /// Uses the `Decodable` implementation of `Date`: seconds since 2001-01-01.
        case deferredToDate
        /// Decodes seconds since 1970-01-01.
        case secondsSince1970
        /// Decodes milliseconds since 1970-01-01.
        case millisecondsSince1970
        /// Decodes an ISO 8601 string.
        case iso8601
        /// Decodes a string with a formatter.
        case formatted(DateFormatter)
        /// Decodes with a closure.
        case custom((any Swift.Decoder) throws -> Date)
    }

    /// The strategy for decoding `Data` values.
    public enum DataDecodingStrategy {
        /// Decodes a bytes value or a Base64 string.
        case blob
        /// Uses the `Decodable` implementation of `Data`: an array of integers.
        case deferredToData
        /// Decodes a Base64 string.
        case base64
        /// Decodes with a closure.
        case custom((any Swift.Decoder) throws -> Data)
    }

    /// The strategy for decoding NaN and infinity from strings. Double values of NaN and infinity are always decoded.
    public enum NonConformingFloatDecodingStrategy {
        /// Throws an error for strings.
        case `throw`
        /// Decodes the given strings.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The strategy for converting field names to coding keys. Dictionary keys are not converted.
    public enum KeyDecodingStrategy {
        /// Uses the field names unchanged.
        case useDefaultKeys
        /// Converts snake case to camel case: `cover_image` to `coverImage`.
        case convertFromSnakeCase
        /// Converts with a closure, which receives the path from the root to the field.
        case custom(([any CodingKey]) -> any CodingKey)
    }
}
