import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1

/// nginx with WebDAV: files that are read, and created and renamed, without a sync.
struct NginxPeer: Peer {
    let name = "nginx files"
    private let port: Int
    private let process: SpawnedProcess

    /// Starts a server with the documents. Returns `nil` if nginx is not installed.
    init?(_ documents: PeerDocuments, in parent: String) async throws {
        guard let program = PeerEnvironment.program("nginx") else { return nil }
        let folder = parent + "/nginx"
        for name in ["/files/tags", "/files/created", "/temporary"] {
            try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
        }
        for number in 0..<documents.count {
            try RawFileIO.write(Array(documents.json(number).utf8), to: "\(folder)/files/tags/\(documents.id(number)).json")
        }
        let port = try PeerEnvironment.freePort()
        let configuration = """
            \(getuid() == 0 ? "user root;" : "")
            daemon off;
            worker_processes auto;
            pid \(folder)/pid;
            error_log \(folder)/error.log;
            events {}
            http {
                access_log off;
                keepalive_requests 1000000000;
                client_body_temp_path \(folder)/temporary;
                server {
                    listen 127.0.0.1:\(port);
                    root \(folder)/files;
                    location / { dav_methods PUT; }
                }
            }

            """
        try RawFileIO.write(Array(configuration.utf8), to: folder + "/nginx.conf")
        self.port = port
        process = try SpawnedProcess(program, ["-p", folder, "-e", folder + "/error.log", "-c", folder + "/nginx.conf"])
        try await process.terminatingOnFailure {
            let url = "http://127.0.0.1:\(port)/tags/\(documents.id(0)).json"
            try await PeerEnvironment.wait(for: "nginx") {
                try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(1)).status == .ok
            }
        }
    }

    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int? {
        let documents = load.documents
        switch workload {
        case .read:
            return try await send(load, expecting: "{") { index in
                HTTPLoad.Request(method: .GET, path: "/tags/\(documents.id(documents.existing(index))).json")
            }
        case .update:
            return try await send(load) { index in
                let number = documents.existing(index)
                return Self.put("/tags/" + documents.id(number), documents.json(number + documents.count * (index + 1)))
            }
        case .create:
            return try await send(load) { index in Self.put("/created/" + load.newID(index), documents.json(index)) }
        case .list, .query, .compareAndSet, .increment, .watch:
            return nil
        }
    }

    func processorTime() throws -> Duration { try process.processorTimeWithChildren() }

    func waitUntilIdle() async throws { try await process.waitUntilIdle() }

    func stop() { process.terminate() }

    private func send(
        _ load: PeerLoad,
        expecting prefix: String = "",
        _ request: @escaping @Sendable (Int) -> HTTPLoad.Request
    ) async throws -> Int {
        try await HTTPLoad(port: port, connections: load.connections).send(for: load.duration, expecting: prefix, request)
    }

    private static func put(_ path: String, _ document: String) -> HTTPLoad.Request {
        HTTPLoad.Request(method: .PUT, path: path + ".json", body: ByteBuffer(string: document))
    }
}
