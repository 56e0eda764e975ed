internal import DocumentModel
internal import Foundation
internal import StrictJSON

extension Value {
    /// The value as users find it in a dictionary: an integer is an `Int`, null an `NSNull`, bytes are `Data`.
    ///
    /// - Parameter firestore: What references belong to.
    func any(in firestore: Firestore?) -> Any {
        switch self {
        case .null: NSNull()
        case .boolean(let value): value
        case .integer(let value): Int(exactly: value) ?? value
        case .double(let value): value
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
    /// The members as users read them. Of names that Swift takes for equal, since they differ in normalisation only, one stays.
    func dictionary(in firestore: Firestore?) -> [String: Any] {
        var dictionary = [String: Any](minimumCapacity: count)
        for (name, value) in self { dictionary[name.string] = value.any(in: firestore) }
        return dictionary
    }
}
