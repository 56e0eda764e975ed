internal import DocumentModel
internal import Foundation
internal import UTF8Text

extension Value {
    /// Returns the value as user data: numbers as `NSNumber`, null as `NSNull`, bytes as `Data`.
    ///
    /// As with the SDK, a number can be cast to each numeric type that has its value.
    ///
    /// - Parameter firestore: The database to which references belong.
    func any(in firestore: Firestore?) -> Any {
        switch self {
        case .null: NSNull()
        case .boolean(let value): value
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .timestamp(let value): value
        case .string(let value): value
        case .bytes(let value): Data(value)
        case .reference(let path): DocumentReference(path, in: firestore ?? .firestore())
        case .geoPoint(let value): value
        case .array(let elements): elements.map { $0.any(in: firestore) }
        case .vector(let array): VectorValue(array)
        case .map(let map): map.dictionary(in: firestore)
        }
    }
}

extension MapValue {
    /// Returns the map as user data. If names differ only in Unicode normalization, only one of them is kept.
    func dictionary(in firestore: Firestore?) -> [String: Any] {
        var dictionary = [String: Any](minimumCapacity: count)
        for (name, value) in self { dictionary[name.string] = value.any(in: firestore) }
        return dictionary
    }
}
