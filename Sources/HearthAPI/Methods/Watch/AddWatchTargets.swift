package import DocumentModel
import HearthWire
package import JSONRPC
package import UTF8Text

/// `watch.addTargets`: adds targets to an open watch stream.
package enum AddWatchTargets: RPCMethod {
    /// The parameters of `watch.addTargets`.
    package struct Params: Sendable {
        let stream: UTF8Key
        let targets: [WatchTargetParameter]
    }

    private static let targets = Parameter<[WatchTargetParameter]>(
        WatchRequestKeys.targets,
        "The targets to add, each with an ID that the stream does not have."
    )

    package static let name: UTF8Key = "watch.addTargets"
    package static let summary =
        "Adds targets to an open watch stream. Their state follows on the stream, where a target that cannot be watched ends alone."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = [WatchStreamParameter.stream, targets]
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let errors = WatchStreamParameter.errors
    package static let examples = [
        RPCExample(
            "a collection",
            params: #"{"stream": "q7Zb1nV2sQ0yO3mXk5aRdA", "targets": [{"id": 2, "collection": "books"}]}"#,
            result: "{}"
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(stream: UTF8Key(try arguments[WatchStreamParameter.stream]), targets: try arguments[targets])
    }

    package static func call(_ params: Params, in context: ServiceContext) throws(StatusError) {
        try context.watchStreams.request(params.targets.map(\.change), of: params.stream, for: context.caller.identity)
    }
}

/// The parameter of methods that change the targets of a watch stream.
enum WatchStreamParameter {
    static let stream = Parameter<String>(WatchRequestKeys.stream, "The ID of the stream, from its first frame.")

    static let errors = [
        ErrorDescription(status: .notFound, "The caller has no open stream with this ID. Open another one with all targets."),
        ErrorDescription(status: .resourceExhausted, "Changes of more than 8 MiB wait for the stream."),
    ]
}
