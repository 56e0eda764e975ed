internal import DocumentModel
internal import StrictJSON

/// The file `indexes.json`: what is indexed of several fields, and which fields are not. It can't be derived from anything.
///
/// ```json
/// {"format":1,
///  "indexes":[
///   {"id":"1508c36e","collection":"books","fields":[{"field":"author","direction":"asc"},{"field":"pages","direction":"desc"}]}
///  ],
///  "exemptions":[
///   {"collection":"books","field":"notes"}
///  ]}
/// ```
struct IndexDefinitions: Hashable {
    /// The name in the data folder.
    static let fileName = "indexes.json"
    private static let format: Int64 = 1
    /// How many of each there may be.
    private static let maximumCount = 200

    /// An index with its name.
    struct Named: Hashable {
        let id: String
        let definition: IndexDefinition
    }

    private(set) var indexes: [Named] = []
    private(set) var exemptions: [IndexExemption] = []

    /// What concerns the collections with an ID.
    func rules(of collection: CollectionID) -> IndexRules {
        IndexRules(
            composites: Set(indexes.filter { $0.definition.collection == collection }.map(\.definition.fields)),
            exempt: Set(exemptions.filter { $0.collection == collection }.map(\.field))
        )
    }

    /// The IDs of the collections concerned.
    var collections: Set<CollectionID> {
        Set(indexes.map(\.definition.collection)).union(exemptions.map(\.collection))
    }

    /// Makes a change.
    mutating func apply(_ change: IndexChange) throws(StatusError) {
        switch change {
        case .create(let definition):
            if let known = indexes.first(where: { $0.definition == definition }) {
                throw StatusError(.alreadyExists, "There is such an index already, with the ID \(known.id).")
            }
            try Self.checkCount(indexes.count)
            indexes.append(Named(id: unusedID(for: definition), definition: definition))
        case .delete(let id):
            guard let place = indexes.firstIndex(where: { $0.id.utf8.elementsEqual(id.utf8) }) else {
                throw StatusError(.notFound, "There is no index with the ID \(Excerpt(id)). indexes.list names all.")
            }
            indexes.remove(at: place)
        case .exempt(let exemption):
            guard !exemptions.contains(exemption) else {
                throw StatusError(.alreadyExists, "The field \(exemption.field) is exempted already.")
            }
            try Self.checkCount(exemptions.count)
            exemptions.append(exemption)
        case .unexempt(let exemption):
            guard let place = exemptions.firstIndex(of: exemption) else {
                throw StatusError(.notFound, "The field \(exemption.field) is not exempted. indexes.list names all that are.")
            }
            exemptions.remove(at: place)
        }
    }

    /// A short name that depends on nothing but the definition, unless another one has it.
    private func unusedID(for definition: IndexDefinition) -> String {
        let bytes = definition.collection.key.utf8 + [0] + IndexRules.name(of: definition.fields).utf8
        var number = bytes.withUnsafeBytes { CRC32C.checksum($0) }
        while true {
            let id = withUnsafeBytes(of: number.bigEndian) { Hexadecimal.encode($0) }
            guard indexes.contains(where: { $0.id.utf8.elementsEqual(id.utf8) }) else { return id }
            number &+= 1
        }
    }

    private static func checkCount(_ count: Int) throws(StatusError) {
        guard count < maximumCount else {
            throw StatusError(
                .resourceExhausted,
                "There are \(count) already, and can't be more. Delete one that no query needs."
            )
        }
    }
}

extension IndexDefinitions {
    /// The file's bytes: a line for each index and exemption.
    func encoded() -> [UInt8] {
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

    /// Reads the file.
    ///
    /// - Throws: `.dataLoss` with the place when it is damaged.
    init(_ bytes: [UInt8]) throws(StatusError) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes).root
        } catch {
            let place = StatusError.FileLocation(path: Self.fileName, line: error.line, column: error.column)
            throw Self.damaged("\(error.reason)", at: place)
        }
        guard root["format"]?.number == .integer(Self.format), let indexes = root["indexes"]?.elements,
            let exemptions = root["exemptions"]?.elements
        else { throw Self.damaged("it is of another format, or a member is missing") }
        for json in indexes {
            guard let id = json["id"]?.string, let collection = json["collection"]?.string,
                let fields = json["fields"].flatMap({ IndexRules.fields($0) })
            else { throw Self.damaged("an index lacks a member") }
            let definition = try IndexDefinition(collection: CollectionID(collection), fields: fields)
            self.indexes.append(Named(id: id, definition: definition))
        }
        for json in exemptions {
            guard let collection = json["collection"]?.string, let field = json["field"]?.string else {
                throw Self.damaged("an exemption lacks a member")
            }
            self.exemptions.append(try IndexExemption(collection: CollectionID(collection), field: FieldPath(field)))
        }
    }

    private static func damaged(_ fault: String, at place: StatusError.FileLocation? = nil) -> StatusError {
        StatusError(
            .dataLoss,
            "\(fileName) is damaged: \(fault). Mend it, or remove it and define the indexes anew, and start Hearth again.",
            file: place ?? StatusError.FileLocation(path: fileName)
        )
    }
}
