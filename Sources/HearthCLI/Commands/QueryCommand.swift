import ArgumentParser
import DocumentModel
import HearthTransport
import StrictJSON
import UTF8Text

/// `hearth query`
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Run a query or an aggregation.",
        discussion: """
            QUERY is a JSON object in the format of the method query.run, @FILE to read it from a file, or - to read standard input:

              hearth query '{"collection": "books", "where": {"field": "pages", "op": ">", "value": 200},
                             "orderBy": [{"field": "pages", "direction": "desc"}], "limit": 10}'

            Prints one document per line, in query order, in the format of `hearth get`. If the query has the member \
            aggregations, such as [{"count": {}}], prints one line with the aggregation results instead.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Flag(help: "Print the query plan and execution statistics instead of the result.")
    var explain = false

    @Argument(help: "Query: JSON, @FILE or -.")
    var query: String

    func validate() throws {
        try QueryArgument(query).validate()
    }

    func run() async throws {
        let query = try QueryArgument(query).read()
        var output = BufferedOutput.standard()
        var damaged: [StatusError] = []
        if explain {
            let explanation = try await server.withConnection { try await $0.explainQuery(query.root) }
            try output.writeLine(explanation.rawBytes)
        } else if query.root["aggregations"] != nil {
            let result = try await server.withConnection { try await $0.runAggregationQuery(query.root) }
            damaged = result.damaged
            try output.writeLine(result.result.rawBytes)
        } else {
            let result = try await server.withConnection { try await $0.runQuery(query.root) }
            damaged = result.damaged
            for document in result.documents { try output.writeLine(document.json) }
        }
        try output.flush()
        for error in damaged { Console.standardError.report(error) }
        guard damaged.isEmpty else { throw ExitCode.failure }
    }
}
