package import DocumentModel
package import DocumentStore
package import QueryEngine
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// The composite indexes and single-field exemptions of a database, stored in `indexes.json`. They cannot be derived from other
/// files.
///
/// ```json
/// {"format":1,
///  "indexes":[
///   {"id":"1508c36e","collection":"books","fields":[{"field":"author","direction":"asc"},{"field":"pages","direction":"desc"}]}
///  ], "exemptions":[
///   {"collection":"books","field":"notes"}
///  ]}
/// ```
package struct IndexDefinitions: Hashable, Sendable {
    /// The file name in the data folder.
    package static let fileName = "indexes.json"
    private static let format: Int64 = 1
    /// The maximum number of indexes, and of exemptions.
    private static let maximumCount = 200

    /// A definition with its ID.
    package struct IdentifiedIndex: Hashable, Sendable {
        /// The ID.
        package let id: String
        /// The definition.
        package let definition: IndexDefinition
    }

    /// The composite indexes, in the order of their creation.
    package private(set) var indexes: [IdentifiedIndex] = []
    /// The single-field exemptions, in the order of their creation.
    package private(set) var exemptions: [IndexExemption] = []

    /// Creates empty definitions.
    package init() {}

    /// Returns the indexing policy of the collections with a given ID.
    package func policy(of collection: CollectionID) -> IndexingPolicy {
        IndexingPolicy(
            composites: Set(indexes.filter { $0.definition.collection == collection }.map(\.definition.fields)),
            exempt: Set(exemptions.filter { $0.collection == collection }.map(\.field))
        )
    }

    /// The IDs of all collections that have a composite index or an exemption.
    package var collections: Set<CollectionID> {
        Set(indexes.map(\.definition.collection)).union(exemptions.map(\.collection))
    }

    /// Applies a change.
    ///
    /// - Throws: `.alreadyExists`, `.notFound`, or `.resourceExhausted` at the maximum number.
    package mutating func apply(_ change: IndexChange) throws(StatusError) {
        switch change {
        case .create(let definition):
            if let known = indexes.first(where: { $0.definition == definition }) {
                throw StatusError(.alreadyExists, "An identical index already exists, with the ID \(known.id).")
            }
            try Self.checkCount(indexes.count, of: "composite indexes")
            indexes.append(IdentifiedIndex(id: unusedID(for: definition), definition: definition))
        case .delete(let id):
            guard let position = indexes.firstIndex(where: { $0.id.utf8.elementsEqual(id.utf8) }) else {
                throw StatusError(.notFound, "There is no index with the ID \(Excerpt(id)). See indexes.list.")
            }
            indexes.remove(at: position)
        case .exempt(let exemption):
            guard !exemptions.contains(exemption) else {
                throw StatusError(.alreadyExists, "The field \(exemption.field) is already exempted.")
            }
            try Self.checkCount(exemptions.count, of: "exemptions")
            exemptions.append(exemption)
        case .unexempt(let exemption):
            guard let position = exemptions.firstIndex(of: exemption) else {
                throw StatusError(.notFound, "The field \(exemption.field) is not exempted. See indexes.list.")
            }
            exemptions.remove(at: position)
        }
    }

    /// Returns a short ID that is derived from the definition alone, unless another index has it.
    private func unusedID(for definition: IndexDefinition) -> String {
        let bytes = definition.collection.key.utf8 + [0] + definition.fields.catalogName.utf8
        var checksum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
        while true {
            let id = withUnsafeBytes(of: checksum.bigEndian) { Hexadecimal.encode($0) }
            guard indexes.contains(where: { $0.id.utf8.elementsEqual(id.utf8) }) else { return id }
            checksum &+= 1
        }
    }

    private static func checkCount(_ count: Int, of kind: String) throws(StatusError) {
        guard count < maximumCount else {
            throw StatusError(
                .resourceExhausted,
                "The maximum number of \(kind), \(maximumCount), has been reached. Remove those that are not needed."
            )
        }
    }
}

extension IndexDefinitions {
    /// Returns the contents of the file, with one line per index and exemption.
    package func encoded() -> [UInt8] {
        func lines(_ items: [[UInt8]]) -> [UInt8] {
            Array(items.map { Array("\n  ".utf8) + $0 }.joined(separator: [UInt8(ascii: ",")])) + Array("\n ".utf8)
        }
        let indexLines = indexes.map { index in
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("id")
            writer.string(index.id)
            index.definition.writeMembers(to: &writer)
            writer.endObject()
            return writer.finish()
        }
        let exemptionLines = exemptions.map { exemption in
            var writer = JSONWriter()
            exemption.write(to: &writer)
            return writer.finish()
        }
        return Array("{\"format\":\(Self.format),\n \"indexes\":[".utf8) + lines(indexLines)
            + Array("],\n \"exemptions\":[".utf8) + lines(exemptionLines) + Array("]}\n".utf8)
    }

    /// Parses the contents of the file.
    ///
    /// - Throws: `.dataLoss` with the source location when they are invalid.
    package init(_ bytes: [UInt8]) throws(StatusError) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes).root
        } catch {
            let location = StatusError.FileLocation(path: Self.fileName, line: error.line, column: error.column)
            throw Self.damaged("\(error.reason)", at: location)
        }
        guard root["format"]?.number == .integer(Self.format), let indexes = root["indexes"]?.elements,
            let exemptions = root["exemptions"]?.elements
        else { throw Self.damaged("its format is unknown, or a member is missing") }
        for json in indexes {
            guard let id = json["id"]?.string, let collection = json["collection"]?.string,
                let fields = json["fields"].flatMap({ IndexingPolicy.fields($0) })
            else { throw Self.damaged("an index has a missing or invalid member") }
            let definition = try IndexDefinition(collection: CollectionID(collection), fields: fields)
            self.indexes.append(IdentifiedIndex(id: id, definition: definition))
        }
        for json in exemptions {
            guard let collection = json["collection"]?.string, let field = json["field"]?.string else {
                throw Self.damaged("an exemption has a missing or invalid member")
            }
            self.exemptions.append(try IndexExemption(collection: CollectionID(collection), field: FieldPath(field)))
        }
    }

    private static func damaged(_ reason: String, at location: StatusError.FileLocation? = nil) -> StatusError {
        StatusError(
            .dataLoss,
            "\(fileName) is damaged: \(reason). Repair it, or remove it and define the indexes again; then restart Hearth.",
            file: location ?? StatusError.FileLocation(path: fileName)
        )
    }
}
