import DocumentModel
import Foundation
import Testing

@testable import HearthClient

/// A database that nothing is sent to.
let nowhere = {
    let settings = FirestoreSettings()
    settings.host = "127.0.0.1:9"
    return Firestore(settings: settings)
}()

/// What a value is encoded to, without what the server fills in.
func fields(of value: some Encodable, with encoder: Firestore.Encoder = .init()) throws -> MapValue {
    try encoder.documentData(value).fields
}

/// What fields are decoded to, as those of `books/a`.
func decode<T: Decodable>(_ type: T.Type, _ fields: MapValue, with decoder: Firestore.Decoder = .init()) throws -> T {
    let document = nowhere.document("books/a")
    return try decoder.decode(type, from: .map(fields), of: document, in: nowhere)
}

extension DecodingError {
    /// Where it happened; for a missing key the key as well.
    var place: [String] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.map(\.stringValue)
        case .keyNotFound(let key, let context): context.codingPath.map(\.stringValue) + [key.stringValue]
        @unknown default: ["?"]
        }
    }

    var text: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context),
            .keyNotFound(_, let context):
            context.debugDescription
        @unknown default: "?"
        }
    }

    var kind: String {
        switch self {
        case .typeMismatch(let type, _): "typeMismatch \(type)"
        case .valueNotFound(let type, _): "valueNotFound \(type)"
        case .dataCorrupted: "dataCorrupted"
        case .keyNotFound: "keyNotFound"
        @unknown default: "?"
        }
    }
}

extension EncodingError {
    var place: [String] {
        switch self {
        case .invalidValue(_, let context): context.codingPath.map(\.stringValue)
        @unknown default: ["?"]
        }
    }
}
