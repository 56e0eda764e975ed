import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import NIOCore
import StrictJSON

// Unary calls.
extension GRPCBenchmark {
    /// Measures the CPU time of the server per call.
    func measureCalls(in folder: String, into report: inout Report) async throws {
        let h2load = try H2Load(in: folder)
        var generator = DocumentGenerator(seed: options.seed)
        let document = try generator.documents(1)[0]
        var get = ProtoGetDocumentRequest()
        get.name = DatabaseName(.standard).name(of: document.path)
        let getDocument = try H2Load.Call(
            path: "/google.firestore.v1.Firestore/GetDocument",
            message: ByteBuffer(grpcMessage: get)
        )
        let check = try H2Load.Call(
            path: "/grpc.health.v1.Health/Check",
            message: ByteBuffer(grpcMessage: ProtoHealthCheckRequest())
        )
        try await withServer("calls", in: folder) { server in
            let http = HTTPLoad(port: server.port, connections: H2Load.streams)
            try await http.post([.commit(document, in: "documents")], to: "/rpc", expecting: HTTPLoad.result)
            let gets = Array(
                repeating: ByteBuffer.call("documents.get") { params in
                    params.key("path")
                    params.string(document.path.string)
                },
                count: calls
            )
            try await http.post(Array(gets.prefix(Self.warmUpCount)), to: "/rpc", expecting: HTTPLoad.result)
            try await server.process.waitUntilIdle()
            let baseline = try await Measurement.run(
                "documents.get, HTTP/1.1, \(H2Load.streams) connections",
                operations: calls,
                unit: "call",
                processorTime: server.process.processorTime
            ) {
                try await http.post(gets, to: "/rpc", expecting: HTTPLoad.result)
            }
            report.add(baseline)
            for (name, call, maximum) in [("GetDocument", getDocument, nil), ("Health.Check", check, 1.5)] {
                let size = try h2load.send(call, count: Self.warmUpCount, port: server.port)
                let constant = try await measureConstant(call, "raw NIO handler, \(size) bytes", size, h2load, in: folder)
                report.add(constant)
                var measurement = try await measure(call, name, size, h2load, of: server)
                if maximum == nil { measurement.addProcessorTime(relativeTo: baseline, maximum: 1.5) }
                measurement.addProcessorTime(relativeTo: constant, maximum: maximum)
                report.add(measurement)
            }
        }
    }

    /// Measures calls of a server that responds with constant bytes.
    private func measureConstant(
        _ call: H2Load.Call,
        _ name: String,
        _ size: Int,
        _ h2load: H2Load,
        in folder: String
    ) async throws -> Measurement {
        try await BenchmarkServer.with(
            SpawnedProcess.sibling("hearth-bench"),
            ["constant-grpc-server", "--bytes", "\(size)"],
            in: folder
        ) { server in
            try h2load.send(call, count: Self.warmUpCount, port: server.port)
            return try await measure(call, name, size, h2load, of: server)
        }
    }

    private func measure(
        _ call: H2Load.Call,
        _ name: String,
        _ size: Int,
        _ h2load: H2Load,
        of server: BenchmarkServer
    ) async throws -> Measurement {
        try await Measurement.run(
            "\(name), \(H2Load.streams) streams",
            operations: calls,
            unit: "call",
            processorTime: server.process.processorTime
        ) {
            try h2load.send(call, count: calls, port: server.port, responseBytes: size)
        }
    }

    private static let warmUpCount = 2_000
}
