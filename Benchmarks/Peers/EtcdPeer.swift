import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// etcd, called by its JSON gateway over HTTP/1.1.
struct EtcdPeer: Peer {
    let name = "etcd"
    private let port: Int
    private let process: SpawnedProcess

    /// Starts a server with the documents. Returns `nil` if etcd is not installed.
    init?(_ documents: PeerDocuments, in folder: String) async throws {
        guard let program = PeerEnvironment.program("etcd") else { return nil }
        let port = try PeerEnvironment.freePort()
        let client = "http://127.0.0.1:\(port)"
        let peer = "http://127.0.0.1:\(try PeerEnvironment.freePort())"
        let process = try SpawnedProcess(
            program,
            [
                "--data-dir", folder + "/etcd", "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
                "--logger", "zap", "--log-level", "error", "--quota-backend-bytes", "8000000000",
            ]
        )
        self.port = port
        self.process = process
        try await process.terminatingOnFailure {
            try await PeerEnvironment.wait(for: "etcd") {
                try await HTTPClient.shared.execute(HTTPClientRequest(url: client + "/health"), timeout: .seconds(1)).status
                    == .ok
            }
            let requests = (0..<documents.count).map { Self.put("tags/" + documents.id($0), documents.json($0)) }
            try await HTTPLoad(port: port, connections: 16).send(requests, expecting: Self.success)
        }
    }

    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int? {
        let documents = load.documents
        switch workload {
        case .read:
            return try await send(load) { index in
                Self.request("kv/range", #""key":"\#(Self.base64("tags/" + documents.id(documents.existing(index))))""#)
            }
        case .list:
            return try await send(load) { index in
                let start = "tags/" + documents.id(documents.existing(index, excluding: 100))
                return Self.request(
                    "kv/range",
                    #""key":"\#(Self.base64(start))","range_end":"\#(Self.base64("tags0"))","limit":"100""#
                )
            }
        case .update:
            return try await send(load) { index in
                let number = documents.existing(index)
                return Self.put("tags/" + documents.id(number), documents.json(number + documents.count * (index + 1)))
            }
        case .create:
            return try await send(load) { index in
                let key = Self.base64("created/" + load.newID(index))
                let put = #"{"requestPut":{"key":"\#(key)","value":"\#(Self.base64(documents.json(index)))"}}"#
                return Self.request(
                    "kv/txn",
                    #""compare":[{"target":"CREATE","key":"\#(key)","createRevision":"0"}],"success":[\#(put)]"#
                )
            }
        case .compareAndSet: return try await compareAndSet(load)
        case .watch:
            let range = #"{"create_request":{"key":"\#(Self.base64("watched/"))","range_end":"\#(Self.base64("watched0"))"}}"#
            let head = "POST /v3/watch HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
            let line = Array(#"{"result":"#.utf8)
            let format = WatchLoad.Format(
                request: head + "Content-Length: \(range.utf8.count)\r\n\r\n" + range,
                current: line,
                change: line,
                sequence: Array(#""revision":""#.utf8)
            )
            return try await load.countFrames(of: format, port: port) { index in
                let put = Self.put("watched/one", documents.json(load.run * 100_000 + index + 1))
                let response = try await HTTPClient.shared.post(put.body, to: "http://127.0.0.1:\(port)\(put.path)")
                guard response.hasPrefix(Self.success) else { throw HTTPLoad.UnexpectedResponse(description: response) }
            }
        case .query, .increment: return nil
        }
    }

    func processorTime() throws -> Duration { try process.processorTimeWithChildren() }

    func waitUntilIdle() async throws { try await process.waitUntilIdle() }

    func stop() { process.terminate() }

    private func send(_ load: PeerLoad, _ request: @escaping @Sendable (Int) -> HTTPLoad.Request) async throws -> Int {
        try await HTTPLoad(port: port, connections: load.connections)
            .send(for: load.duration, expecting: Self.success, request)
    }

    private func compareAndSet(_ load: PeerLoad) async throws -> Int {
        let key = Self.base64("counter")
        try await HTTPLoad(port: port, connections: 1).send([Self.put("counter", "0")], expecting: Self.success)
        let url = "http://127.0.0.1:\(port)/v3/kv/"
        return try await load.countIncrements { client in
            let read = try await client.post(ByteBuffer(string: #"{"key":"\#(key)"}"#), to: url + "range")
            guard let revision = read.firstMatch(of: /"mod_revision":"(\d+)"/),
                let text = read.firstMatch(of: /"value":"([^"]+)"/),
                let data = Data(base64Encoded: String(text.1)), let value = Int(String(decoding: data, as: UTF8.self))
            else { throw HTTPLoad.UnexpectedResponse(description: read) }
            let compare = #"{"target":"MOD","key":"\#(key)","modRevision":"\#(revision.1)"}"#
            let put = #"{"requestPut":{"key":"\#(key)","value":"\#(Self.base64("\(value + 1)"))"}}"#
            let body = ByteBuffer(string: #"{"compare":[\#(compare)],"success":[\#(put)]}"#)
            let response = try await client.post(body, to: url + "txn")
            return response.contains(#""succeeded":true"#)
        }
    }

    /// The beginning of all successful responses.
    private static let success = #"{"header":"#

    private static func put(_ key: String, _ value: String) -> HTTPLoad.Request {
        request("kv/put", #""key":"\#(base64(key))","value":"\#(base64(value))""#)
    }

    private static func request(_ method: String, _ members: String) -> HTTPLoad.Request {
        HTTPLoad.Request(path: "/v3/" + method, body: ByteBuffer(string: "{\(members)}"))
    }

    private static func base64(_ text: String) -> String {
        Data(text.utf8).base64EncodedString()
    }
}
