import AsyncHTTPClient
import NIOCore

/// Hearth, called by JSON-RPC.
struct HearthPeer: Peer {
    let name = "Hearth"
    private let server: BenchmarkServer

    /// Starts a server with the documents.
    init(_ documents: PeerDocuments, program: String, watchers: Int, in folder: String) async throws {
        server = try BenchmarkServer.start(
            program,
            [
                "serve", "--data", folder + "/hearth", "--port", "0", "--watchers", "\(watchers + 1)",
                "--watchers-per-address", "\(watchers + 1)",
            ],
            in: folder
        )
        try await server.process.terminatingOnFailure {
            let requests = (0..<documents.count).map { Self.set("tags/" + documents.id($0), documents.json($0)) }
            try await HTTPLoad(port: server.port, connections: 16).send(requests, expecting: HTTPLoad.result)
        }
    }

    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int? {
        let documents = load.documents
        switch workload {
        case .read:
            return try await send(load) { index in
                Self.request("documents.get", #""path":"tags/\#(documents.id(documents.existing(index)))""#)
            }
        case .list:
            return try await send(load) { index in
                let start = documents.id(documents.existing(index, excluding: 100))
                return Self.request(
                    "query.run",
                    #""collection":"tags","orderBy":[{"field":"__name__"}],"limit":100,"startAt":{"values":["\#(start)"]}"#
                )
            }
        case .query:
            return try await send(load) { index in
                let group = documents.group(documents.existing(index))
                return Self.request(
                    "query.run",
                    #""collection":"tags","where":{"field":"group","op":"==","value":\#(group)},"limit":100"#
                )
            }
        case .update:
            return try await send(load) { index in
                let number = documents.existing(index)
                // The number in the document changes with every update.
                return Self.set("tags/" + documents.id(number), documents.json(number + documents.count * (index + 1)))
            }
        case .create:
            return try await send(load) { index in
                Self.request(
                    "documents.create",
                    #""collection":"created","id":"\#(load.newID(index))","fields":\#(documents.json(index))"#
                )
            }
        case .compareAndSet: return try await compareAndSet(load)
        case .increment:
            try await set("counters/increment", #"{"n":0}"#)
            var load = load
            load.connections = load.callers
            return try await send(load) { _ in
                Self.request(
                    "documents.update",
                    #""path":"counters/increment","fields":{},"transforms":[{"field":"n","increment":1}]"#
                )
            }
        case .watch:
            try await set("watched/one", documents.json(0))
            return try await load.countFrames(of: .hearth("watched", port: server.port), port: server.port) { index in
                let fields = documents.json(load.run * 100_000 + index + 1)
                let call = ByteBuffer(string: Self.body("documents.set", #""path":"watched/one","fields":\#(fields)"#))
                let response = try await HTTPClient.shared.post(call, to: "http://127.0.0.1:\(server.port)/rpc")
                guard response.hasPrefix(HTTPLoad.result) else { throw HTTPLoad.UnexpectedResponse(description: response) }
            }
        }
    }

    func processorTime() throws -> Duration { try server.process.processorTimeWithChildren() }

    func waitUntilIdle() async throws { try await server.process.waitUntilIdle() }

    func stop() { server.process.terminate() }

    private func send(_ load: PeerLoad, _ request: @escaping @Sendable (Int) -> HTTPLoad.Request) async throws -> Int {
        try await HTTPLoad(port: server.port, connections: load.connections)
            .send(for: load.duration, expecting: HTTPLoad.result, request)
    }

    private func compareAndSet(_ load: PeerLoad) async throws -> Int {
        try await set("counters/set", #"{"n":0}"#)
        let url = "http://127.0.0.1:\(server.port)/rpc"
        return try await load.countIncrements { client in
            let read = try await client.post(ByteBuffer(string: Self.body("documents.get", #""path":"counters/set""#)), to: url)
            guard let number = read.firstMatch(of: /"n":(\d+)/), let time = read.firstMatch(of: /"updateTime":"([^"]+)"/),
                let value = Int(number.1)
            else { throw HTTPLoad.UnexpectedResponse(description: read) }
            let parameters =
                #""path":"counters/set","fields":{"n":\#(value + 1)},"precondition":{"updateTime":"\#(time.1)"}"#
            let response = try await client.post(ByteBuffer(string: Self.body("documents.set", parameters)), to: url)
            return response.hasPrefix(HTTPLoad.result)
        }
    }

    private func set(_ path: String, _ fields: String) async throws {
        try await HTTPLoad(port: server.port, connections: 1).send([Self.set(path, fields)], expecting: HTTPLoad.result)
    }

    private static func set(_ path: String, _ fields: String) -> HTTPLoad.Request {
        request("documents.set", #""path":"\#(path)","fields":\#(fields)"#)
    }

    private static func request(_ method: String, _ parameters: String) -> HTTPLoad.Request {
        HTTPLoad.Request(path: "/rpc", body: ByteBuffer(string: body(method, parameters)))
    }

    private static func body(_ method: String, _ parameters: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(parameters)}}"#
    }
}
