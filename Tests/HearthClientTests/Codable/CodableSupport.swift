import DocumentModel
import Foundation
import Testing

@testable import HearthClient

/// A database without a server.
let offlineDatabase = {
    let settings = FirestoreSettings()
    settings.host = "127.0.0.1:9"
    return Firestore(settings: settings)
}()

/// Encodes a value to fields, without sentinels.
func fields(of value: some Encodable, with encoder: Firestore.Encoder = .init()) throws -> MapValue {
    try encoder.documentData(value).fields
}

/// Decodes the fields of the document `books/a`.
func decode<T: Decodable>(_ type: T.Type, _ fields: MapValue, with decoder: Firestore.Decoder = .init()) throws -> T {
    let document = offlineDatabase.document("books/a")
    return try decoder.decode(type, from: .map(fields), of: document, in: offlineDatabase)
}

extension DecodingError {
    /// The coding path, including a missing key.
    var path: [String] {
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
    var path: [String] {
        switch self {
        case .invalidValue(_, let context): context.codingPath.map(\.stringValue)
        @unknown default: ["?"]
        }
    }
}
