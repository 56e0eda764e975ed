import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON

extension ResultDescription {
    /// What the methods that change or list indexes answer with.
    static let indexes = ResultDescription(
        "indexes",
        .object([
            .init(
                "indexes",
                .array(
                    of: .object(
                        [
                            .init("id", .string(), "The index's name, for indexes.delete."),
                            .init("collection", .string(), "The ID of the collections that it is for."),
                            .init("fields", .array(of: IndexFieldParameter.schema), "Its fields, in order."),
                        ] + IndexReport.Progress.members
                    )
                ),
                "The indexes of several fields."
            ),
            .init(
                "exemptions",
                .array(
                    of: .object([
                        .init("collection", .string(), "The ID of the collections."),
                        .init("field", .string(), "The field, with all that is in it."),
                    ])
                ),
                "The fields that are not indexed by themselves."
            ),
            .init(
                "changes",
                .array(
                    of: .object([.init("collection", .string(), "The ID of the collections.")] + IndexReport.Progress.members)
                ),
                "The collections whose entries are still being made or removed."
            ),
        ]),
        "All that is indexed beside single fields, and what isn't."
    )
}

extension IndexReport {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("indexes")
        writer.beginArray()
        for (id, definition, progress) in indexes {
            writer.beginObject()
            writer.key("id")
            writer.string(id)
            definition.writeMembers(to: &writer)
            progress.writeMembers(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.key("exemptions")
        writer.beginArray()
        for exemption in exemptions { exemption.write(to: &writer) }
        writer.endArray()
        writer.key("changes")
        writer.beginArray()
        for (collection, progress) in changes {
            writer.beginObject()
            writer.key("collection")
            writer.string(collection.key.string)
            progress.writeMembers(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}

extension IndexReport.Progress {
    /// What ``writeMembers(to:)`` writes.
    static let members: [JSONSchema.Property] = [
        .init("state", .string(values: ["ready", "building", "unavailable"]), "Whether queries can use it."),
        .init("documentsDone", .integer(minimum: 0), "While it is made: how many documents are done."),
        .init("documentsTotal", .integer(minimum: 0), "While it is made: of how many; 0 as long as that is not known."),
        .init("obstacle", .string(), "Why it is unavailable; absent when it is not.", isRequired: false),
    ]

    /// Writes the progress as members of an object.
    func writeMembers(to writer: inout JSONWriter) {
        let (state, done, total): (String, Int, Int) =
            switch self {
            case .ready: ("ready", 0, 0)
            case .building(let documents, let total): ("building", documents, total ?? 0)
            case .unavailable: ("unavailable", 0, 0)
            }
        writer.key("state")
        writer.string(state)
        writer.key("documentsDone")
        writer.integer(Int64(done))
        writer.key("documentsTotal")
        writer.integer(Int64(total))
        if case .unavailable(let reason) = self {
            writer.key("obstacle")
            writer.string(reason)
        }
    }
}
