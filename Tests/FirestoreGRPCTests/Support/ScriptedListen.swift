import DocumentModel
import FirestoreProto
import FuzzedInputs
import HearthAPI
import HearthHTTP
import SwiftProtobuf

@testable import FirestoreGRPC

/// A channel whose messages say what its stream responds.
///
/// `addTarget` and `removeTarget` are confirmed. Labels ask for more: `documents` and `bytes` for a number of documents of a size,
/// `text` for a document with a text, `current` for the end of a snapshot, `end` for the end of the stream, `fail` for its failure.
struct ScriptedListen: RouteModule {
    let registry: WebChannelRegistry

    init(now: @escaping @Sendable () -> WebChannelState.Instant) {
        registry = WebChannelRegistry(maximumEndedCount: 8, now: now)
    }

    func routes(using server: ServerResources) -> [Route] {
        let server = GRPCServer(ServiceContext(store: ReadOnlyEmptyStore(), keys: server.authenticator.keys), server)
        return [WebChannelRoute("Script", Self.method, on: server, registry: registry).route]
    }

    private static let method = StreamMethod<ProtoListenRequest, ProtoListenResponse>(requiredPermission: .reader) {
        requests,
        responses,
        _ in
        while let request = try await requests.next() {
            switch request.targetChange {
            case .addTarget(let target):
                try await responses.write([.change(.add, target.targetID)])
            case .removeTarget(let id):
                try await responses.write([.change(.remove, id)])
            case nil:
                break
            }
            let labels = request.labels
            if let text = labels["text"] {
                try await responses.write([.document("a", text)])
            }
            if let count = labels["documents"].flatMap({ Int($0) }), let size = labels["bytes"].flatMap({ Int($0) }) {
                let text = String(repeating: "x", count: size)
                for id in 0..<count { try await responses.write([.document("\(id)", text)]) }
            }
            if labels["current"] != nil {
                let current = ProtoListenResponse.make {
                    $0.targetChange = .make {
                        $0.targetChangeType = .current
                        $0.targetIds = [2]
                        $0.resumeToken = .init([1, 2, 3])
                        $0.readTime = time
                    }
                }
                let snapshot = ProtoListenResponse.make {
                    $0.targetChange = .make {
                        $0.resumeToken = .init([1, 2, 3])
                        $0.readTime = time
                    }
                }
                try await responses.write([current, snapshot])
            }
            if labels["end"] != nil { return }
            if labels["fail"] != nil { throw StatusError(.notFound, "No such thing: é.") }
        }
    }
}

private let time = Google_Protobuf_Timestamp(seconds: 1_767_323_045, nanos: 1_000)

extension ProtoListenResponse {
    fileprivate static func change(_ type: ProtoTargetChange.TargetChangeType, _ id: Int32) -> ProtoListenResponse {
        .make {
            $0.targetChange = .make {
                $0.targetChangeType = type
                $0.targetIds = [id]
            }
        }
    }

    fileprivate static func document(_ id: String, _ text: String) -> ProtoListenResponse {
        .make {
            $0.documentChange = .make {
                $0.document = .document("c/\(id)", ["n": ProtoValue(stringLiteral: text)])
                $0.document.createTime = time
                $0.document.updateTime = time
                $0.targetIds = [2]
            }
        }
    }
}
