internal import DocumentModel
package import DocumentStore
package import StrictJSON
internal import UTF8Text

/// The build state of the indexes of the collections with a given ID.
///
/// While a backfill runs, each document has at most the entries of ``maintained`` and at least those of ``readable``. Removing a
/// document removes the former; queries use only the latter. An index that is only in ``maintained`` is what other databases call
/// write-only.
package struct IndexBuildState: Hashable, Sendable {
    /// The policy whose entries may exist, and are removed with their document.
    package private(set) var maintained = IndexingPolicy()
    /// The policy whose entries are complete, so that queries can use them.
    package private(set) var readable = IndexingPolicy()
    /// The defined policy, according to which entries are added.
    package private(set) var desired = IndexingPolicy()

    /// True if no backfill is needed.
    package var isBackfilled: Bool { maintained == desired && readable == desired }

    /// Creates the state of a running build.
    package init(maintained: IndexingPolicy, readable: IndexingPolicy, desired: IndexingPolicy) {
        (self.maintained, self.readable, self.desired) = (maintained, readable, desired)
    }

    /// Creates the state of a complete build.
    package init(backfilled policy: IndexingPolicy = IndexingPolicy()) {
        (maintained, readable, desired) = (policy, policy, policy)
    }

    /// Changes the desired policy. It applies immediately to documents that are written, and to the others through the backfill.
    package mutating func setDesired(_ policy: IndexingPolicy) {
        desired = policy
        maintained.composites.formUnion(policy.composites)
        maintained.exempt.formIntersection(policy.exempt)
        readable.composites.formIntersection(policy.composites)
        readable.exempt.formUnion(policy.exempt)
    }

    /// Marks the backfill as complete.
    package mutating func markBackfilled() {
        self = IndexBuildState(backfilled: desired)
    }
}

extension IndexingPolicy {
    /// The policy as JSON text. Equal policies may have different representations.
    package var text: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("composites")
        writer.beginArray()
        for fields in composites { writer.fields(fields) }
        writer.endArray()
        writer.key("exempt")
        writer.beginArray()
        for field in exempt { writer.string(field.description) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    /// Parses a policy; `nil` if it is invalid.
    package init?(text: String) {
        guard let root = try? JSONText(Array(text.utf8)).root, let composites = root["composites"]?.elements,
            let exempt = root["exempt"]?.elements
        else { return nil }
        self.init()
        for json in composites {
            guard let fields = Self.fields(json) else { return nil }
            self.composites.insert(fields)
        }
        for json in exempt {
            guard let field = try? FieldPath(json.string ?? "") else { return nil }
            self.exempt.insert(field)
        }
    }

    /// Parses the fields of an index; `nil` if they are invalid.
    package static func fields(_ json: JSONNode) -> [IndexDefinition.Field]? {
        guard let elements = json.elements else { return nil }
        var fields: [IndexDefinition.Field] = []
        for json in elements {
            guard let path = json["field"]?.string.flatMap({ try? FieldPath($0) }), let direction = json["direction"]?.string
            else { return nil }
            let isDescending = direction.utf8.elementsEqual("desc".utf8)
            guard isDescending || direction.utf8.elementsEqual("asc".utf8) else { return nil }
            fields.append(IndexDefinition.Field(path, isDescending ? .descending : .ascending))
        }
        return fields
    }
}
