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
                    of: .object([
                        .init("id", .string(), "The index's name, for indexes.delete."),
                        .init("collection", .string(), "The ID of the collections that it is for."),
                        .init("fields", .array(of: IndexFieldParameter.schema), "Its fields, in order."),
                        .init("state", .string(values: ["ready", "building"]), "Whether queries use it."),
                        .init("documentsDone", .integer(minimum: 0), "While it is made: how many documents were looked at."),
                    ])
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
            let (state, documents) = progress.parts
            writer.key("state")
            writer.string(state)
            writer.key("documentsDone")
            writer.integer(Int64(documents))
            writer.endObject()
        }
        writer.endArray()
        writer.key("exemptions")
        writer.beginArray()
        for exemption in exemptions { exemption.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }
}

extension IndexReport.Progress {
    fileprivate var parts: (state: String, documents: Int) {
        switch self {
        case .ready: ("ready", 0)
        case .building(let documents): ("building", documents)
        }
    }
}
