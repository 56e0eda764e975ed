public import Foundation

/// The ways in which ``Firestore/Decoder`` can be told to read what Swift and documents see differently.
public enum FirebaseDataDecoder {
    /// How a `Date` is read.
    public enum DateDecodingStrategy {
        /// From a timestamp value.
        case timestamp
        /// As `Date` itself decodes: from the seconds since the start of 2001.
        case deferredToDate
        /// From the seconds since the start of 1970.
        case secondsSince1970
        /// From the milliseconds since the start of 1970.
        case millisecondsSince1970
        /// From a string in ISO 8601 form.
        case iso8601
        /// From a string that a formatter reads.
        case formatted(DateFormatter)
        /// As the closure decodes it.
        case custom((any Swift.Decoder) throws -> Date)
    }

    /// How a `Data` is read.
    public enum DataDecodingStrategy {
        /// From a bytes value, or from a string in base64.
        case blob
        /// As `Data` itself decodes: from an array of numbers.
        case deferredToData
        /// From a string in base64.
        case base64
        /// As the closure decodes it.
        case custom((any Swift.Decoder) throws -> Data)
    }

    /// Which strings stand for the doubles that are no number. NaN and the infinities themselves are always read.
    public enum NonConformingFloatDecodingStrategy {
        /// None.
        case `throw`
        /// These.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// How a type's coding keys are made of the names of fields. The keys of dictionaries are data, and stay as they are.
    public enum KeyDecodingStrategy {
        /// They are the names.
        case useDefaultKeys
        /// `cover_image` becomes `coverImage`.
        case convertFromSnakeCase
        /// As the closure says, which gets all names from the top down to the one in question.
        case custom(([any CodingKey]) -> any CodingKey)
    }
}
