import HearthWire
package import JSONRPC
package import UTF8Text

/// `watch.addTargets`: adds targets to an open watch stream.
package enum AddWatchTargets: WatchTargetsMethod {
    package static let name: UTF8Key = "watch.addTargets"
    package static let summary =
        "Adds targets to an open watch stream. Their state follows on the stream, where a target that cannot be watched ends alone."
    package static let targets = Parameter<[WatchTargetParameter]>(
        WatchRequestKeys.targets,
        "The targets to add, each with an ID that the stream does not have."
    )
    package static let examples = [
        RPCExample(
            "a collection",
            params: #"{"stream": "q7Zb1nV2sQ0yO3mXk5aRdA", "targets": [{"id": 2, "collection": "books"}]}"#,
            result: "{}"
        )
    ]

    package static func change(_ target: WatchTargetParameter) -> WatchTargetChange? { target.change }
}
