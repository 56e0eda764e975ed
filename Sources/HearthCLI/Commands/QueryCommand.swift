import ArgumentParser
import DocumentModel
import HearthClient
import StrictJSON

/// `hearth query`
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print the documents that a query finds, or numbers that are made of them.",
        discussion: """
            QUERY is the JSON object that the call query.run takes, @FILE to read it from a file, or - for standard input:

              hearth query '{"collection": "books", "where": {"field": "pages", "op": ">", "value": 200},
                             "orderBy": [{"field": "pages", "direction": "desc"}], "limit": 10}'

            Prints a document a line, in the query's order, as `hearth get` does. With the member aggregations, such as \
            [{"count": {}}], prints one line with these numbers instead.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Flag(help: "Print how the query is answered, and what that takes, instead of its result.")
    var explain = false

    @Argument(help: "The query: JSON, @FILE or -.")
    var query: String

    func validate() throws {
        try QueryArgument(query).validate()
    }

    func run() async throws {
        let query = try QueryArgument(query).read()
        var output = BufferedOutput.standard()
        var damaged: [StatusError] = []
        if explain {
            let explanation = try await server.withConnection { try await $0.explanation(ofQuery: query.root) }
            try output.writeLine(explanation.rawBytes)
        } else if query.root["aggregations"] != nil {
            let answer = try await server.withConnection { try await $0.aggregations(ofQuery: query.root) }
            damaged = answer.damaged
            try output.writeLine(answer.result.rawBytes)
        } else {
            let answer = try await server.withConnection { try await $0.documents(ofQuery: query.root) }
            damaged = answer.damaged
            for document in answer.documents { try output.writeLine(document.json) }
        }
        try output.flush()
        for error in damaged { Console.standardError.report(error) }
        guard damaged.isEmpty else { throw ExitCode.failure }
    }
}
