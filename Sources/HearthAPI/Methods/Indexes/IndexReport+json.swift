import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON
import UTF8Text

extension ResultDescription {
    /// The result of the methods that change or list indexes.
    static let indexes = ResultDescription(
        "indexes",
        .object([
            .init(
                "indexes",
                .array(
                    of: .object(
                        [
                            .init("id", .string(), "The index ID, for indexes.delete."),
                            .init("collection", .string(), "The ID of the indexed collections."),
                            .init("fields", .array(of: IndexFieldParameter.schema), "The indexed fields, in order."),
                        ] + IndexReport.BuildState.members
                    )
                ),
                "The composite indexes."
            ),
            .init(
                "exemptions",
                .array(
                    of: .object([
                        .init("collection", .string(), "The ID of the collections."),
                        .init("field", .string(), "The field, including its subfields."),
                    ])
                ),
                "The single-field index exemptions."
            ),
            .init(
                "changes",
                .array(
                    of: .object([.init("collection", .string(), "The ID of the collections.")] + IndexReport.BuildState.members)
                ),
                "The collections whose index entries are being built or removed."
            ),
        ]),
        "The composite indexes and single-field exemptions."
    )
}

extension IndexReport {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("indexes")
        writer.beginArray()
        for (id, definition, buildState) in indexes {
            writer.beginObject()
            writer.key("id")
            writer.string(id)
            definition.writeMembers(to: &writer)
            buildState.writeMembers(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.key("exemptions")
        writer.beginArray()
        for exemption in exemptions { exemption.write(to: &writer) }
        writer.endArray()
        writer.key("changes")
        writer.beginArray()
        for (collection, buildState) in backfills {
            writer.beginObject()
            writer.key("collection")
            writer.string(collection.key.string)
            buildState.writeMembers(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}

extension IndexReport.BuildState {
    /// The schema of the members that ``writeMembers(to:)`` writes.
    static let members: [JSONSchema.Property] = [
        .init("state", .string(values: ["ready", "building", "unavailable"]), "Whether queries can use the index."),
        .init("documentsDone", .integer(minimum: 0), "While building: the number of indexed documents."),
        .init(
            "documentsTotal",
            .integer(minimum: 0),
            "While building: the total number of documents; absent while unknown.",
            isRequired: false
        ),
        .init("obstacle", .string(), "The reason why the index is unavailable; otherwise absent.", isRequired: false),
    ]

    /// Writes the state as object members.
    func writeMembers(to writer: inout JSONWriter) {
        let (state, done, total): (String, Int, Int?) =
            switch self {
            case .ready: ("ready", 0, 0)
            case .building(let documents, let total): ("building", documents, total)
            case .unavailable: ("unavailable", 0, 0)
            }
        writer.key("state")
        writer.string(state)
        writer.key("documentsDone")
        writer.integer(Int64(done))
        if let total {
            writer.key("documentsTotal")
            writer.integer(Int64(total))
        }
        if case .unavailable(let reason) = self {
            writer.key("obstacle")
            writer.string(reason)
        }
    }
}
