public import Foundation

/// The ways in which ``Firestore/Encoder`` can be told to write what Swift and documents see differently.
public enum FirebaseDataEncoder {
    /// How a `Date` is written.
    public enum DateEncodingStrategy {
        /// As a timestamp value, to the nearest microsecond.
        case timestamp
        /// As `Date` itself encodes: the seconds since the start of 2001.
        case deferredToDate
        /// As the seconds since the start of 1970, a double.
        case secondsSince1970
        /// As the milliseconds since the start of 1970, a double.
        case millisecondsSince1970
        /// As a string in ISO 8601 form, in UTC and to the second.
        case iso8601
        /// As the string that a formatter makes of it.
        case formatted(DateFormatter)
        /// As the closure encodes it.
        case custom((Date, any Swift.Encoder) throws -> Void)
    }

    /// How a `Data` is written.
    public enum DataEncodingStrategy {
        /// As a bytes value.
        case blob
        /// As `Data` itself encodes: an array of numbers.
        case deferredToData
        /// As a string in base64.
        case base64
        /// As the closure encodes it.
        case custom((Data, any Swift.Encoder) throws -> Void)
    }

    /// What becomes of the doubles that are no number: NaN and the infinities.
    public enum NonConformingFloatEncodingStrategy {
        /// They are refused with an `EncodingError`, although documents can hold them.
        case `throw`
        /// They become these strings.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// How the names of fields are made of a type's coding keys. The keys of dictionaries are data, and stay as they are.
    public enum KeyEncodingStrategy {
        /// They are the names.
        case useDefaultKeys
        /// `coverImage` becomes `cover_image`.
        case convertToSnakeCase
        /// As the closure says, which gets all keys from the top down to the one in question.
        case custom(([any CodingKey]) -> any CodingKey)
    }
}
