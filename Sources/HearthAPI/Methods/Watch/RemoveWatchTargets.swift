package import DocumentModel
import HearthWire
package import JSONRPC
package import UTF8Text

/// `watch.removeTargets`: removes targets from an open watch stream.
package enum RemoveWatchTargets: RPCMethod {
    /// The parameters of `watch.removeTargets`.
    package struct Params: Sendable {
        let stream: UTF8Key
        let ids: [Int]
    }

    private static let targets = Parameter<[Int]>(WatchRequestKeys.targets, "The IDs of the targets to remove.")

    package static let name: UTF8Key = "watch.removeTargets"
    package static let summary = "Removes targets from an open watch stream. Those that the stream does not have are ignored."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = [WatchStreamParameter.stream, targets]
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let errors = WatchStreamParameter.errors
    package static let examples = [
        RPCExample("a target", params: #"{"stream": "q7Zb1nV2sQ0yO3mXk5aRdA", "targets": [2]}"#, result: "{}")
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(stream: UTF8Key(try arguments[WatchStreamParameter.stream]), ids: try arguments[targets])
    }

    package static func call(_ params: Params, in context: ServiceContext) throws(StatusError) {
        let changes = params.ids.compactMap { Int32(exactly: $0).map { WatchTargetChange.remove(id: $0) } }
        try context.watchStreams.request(changes, of: params.stream, for: context.caller.identity)
    }
}
