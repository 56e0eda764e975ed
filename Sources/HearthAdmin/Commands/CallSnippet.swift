import HearthAPI
import StrictJSON
import UTF8Text

/// A method call to copy: as a JSON-RPC request and as a curl command.
struct CallSnippet: ViewModel {
    private let json: String
    private let command: String
    /// The query page with the call's parameters; `nil` for other methods.
    private let queryURL: String?

    init(_ call: MethodCall, commands: ShellCommands) {
        let request = (try? call.request()) ?? []
        json = (try? JSONText(request).root).map(JSONPrettyPrinter.text) ?? ""
        let isQuery = call.method == RunQuery.name || call.method == RunAggregationQuery.name
        queryURL =
            isQuery
            ? AdminURL.query
                + AdminURL.query([
                    ("query", UTF8Key((try? JSONText(call.params).root).map(JSONPrettyPrinter.text) ?? call.params))
                ])
            : nil
        command = commands.curl(EscapedJSON.text(request))
    }
}
