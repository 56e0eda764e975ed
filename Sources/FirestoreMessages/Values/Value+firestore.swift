package import DocumentModel
import UTF8Text

extension Value {
    /// Creates a map, or the vector encoded by `{__type__: "__vector__", value: [numbers]}`.
    package init(mapOrVector map: MapValue) throws(StatusError) {
        guard case .string(let type)? = map["__type__"], type.utf8.elementsEqual("__vector__".utf8) else {
            self = .map(map)
            return
        }
        let error = StatusError(
            .invalidArgument,
            "Expected a map with __type__ \"__vector__\" to have one other field, value, with an array of numbers."
        )
        guard map.count == 2, case .array(let elements)? = map["value"] else { throw error }
        var vector: [Double] = []
        vector.reserveCapacity(elements.count)
        for element in elements {
            switch element {
            case .double(let number): vector.append(number)
            case .integer(let number): vector.append(Double(number))
            default: throw error
            }
        }
        self = .vector(vector)
    }

    /// Creates the reference with which documents are compared in a query, from a document's resource name.
    ///
    /// Official clients end the range of a collection's descendants at an impossible name,
    /// `COLLECTION\0/__id-9223372036854775808__`. It is decoded as the next possible collection ID.
    package init(referenceInQuery name: String, in database: DatabaseName) throws(StatusError) {
        guard name.utf8.contains(0) else {
            self = .reference(try database.document(named: name))
            return
        }
        let path = try database.relativePath(of: name).utf8
        let collection = try CollectionPath(String(Substring(path.prefix { $0 != 0 })))
        guard let next = collection.id.successor else {
            throw StatusError(
                .invalidArgument,
                "No collection ID follows \(Excerpt(collection.string)). Omit the bound."
            )
        }
        let suffix = String(Substring(path.drop { $0 != 0 }.dropFirst()))
        self = .reference(try DocumentPath(CollectionPath(parent: collection.parent, id: next).string + suffix))
    }
}
