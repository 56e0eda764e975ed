internal import DocumentModel
internal import StrictJSON

extension HearthConnection {
    /// Asks for numbers that are made of the documents that a query finds.
    ///
    /// - Returns: The numbers in the order of the operations, and the documents that could not be read for them.
    func numbers(
        _ operations: [Aggregation.Operation],
        of query: DocumentModel.Query
    ) async throws(StatusError) -> (values: [Value], damaged: [StatusError]) {
        let answer = try await call("query.aggregate") { params in
            params.array("aggregations", of: operations) { $1.write(to: &$0) }
            query.writeMembers(to: &params)
        }
        let values = try operations.indices.map { index throws(StatusError) in
            guard let number = answer["result"]?[UTF8Key("field_\(index + 1)")] else {
                throw .unreadable(answer, expected: "a result for each aggregation")
            }
            return try Value(json: number)
        }
        return (values, answer.damaged)
    }
}

extension Aggregation.Operation {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .count(let end):
            writer.key("count")
            writer.beginObject()
            if let end {
                writer.key("upTo")
                writer.integer(Int64(end))
            }
            writer.endObject()
        case .sum(let field): writer.member("sum", field.description)
        case .average(let field): writer.member("average", field.description)
        }
        writer.endObject()
    }
}
