import Foundation
import HearthClient
import SpanRecording
import StrictJSON
import TestSupport
import Testing
import TraceTestSupport
import Tracing
import UTF8Text

@Suite("Traces of hearth serve", .timeLimit(.minutes(10)))
struct TraceExportTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

    private func curl(_ server: EndToEndServer, _ path: String, _ arguments: String = "") async throws -> CommandResult {
        try await shell("curl -sS --max-time 30 \(arguments) '\(server.address)\(path)'")
    }

    @Test
    func `The collector of the environment receives the spans of a run, whose headers are secret`() async throws {
        let collector = try await TraceCollector()
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let environment = [
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "library",
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=te%20st,host.name=h",
                "OTEL_EXPORTER_OTLP_HEADERS": "api-key=topsecret",
            ]
            let server = try await EndToEndServer(data: data, environment: environment)
            let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{"x":1}}}"#
            let header = "-H 'traceparent: 00-\(Self.traceID)-00f067aa0ba902b7-01' -H 'Content-Type: application/json'"
            let written = try await curl(server, "/rpc?token=topsecret", "\(header) -d '\(call)'")
            #expect(written.output.first?.contains("updateTime") == true, "\(written)")
            // The ratio is 0 by default.
            _ = try await curl(server, "/health")
            // The rest is sent at the end.
            #expect(try await server.stop() == .code(0))
            let errors = await server.process.errors.reduce(into: []) { $0.append($1) }.joined(separator: "\n")
            #expect(!errors.contains("topsecret"))
            // They may come in two requests.
            var spans: [TraceSpan] = []
            for await request in collector.requests {
                #expect(request.headers["api-key"] == "topsecret")
                #expect(!String(decoding: request.body, as: UTF8.self).contains("topsecret"))
                spans += try TraceSpan.spans(of: request)
                if spans.contains(where: { $0.name == "POST /rpc" }) { break }
            }
            #expect(spans.map(\.name) == ["commit", "journal sync", "documents.set", "POST /rpc"])
            guard spans.count == 4 else { return }
            #expect(spans.map(\.parentID) == [spans[2].spanID, spans[0].spanID, spans[3].spanID, "00f067aa0ba902b7"])
            for span in spans {
                #expect(span.traceID == Self.traceID)
                #expect(span.spanID.wholeMatch(of: /[0-9a-f]{16}/) != nil)
                #expect(span.resource["service.name"] == "library" && span.resource["service.version"]?.isEmpty == false)
                #expect(span.resource["deployment.environment.name"] == "te st" && span.resource["host.name"] == "h")
            }
        }
    }

    @Test
    func `A call of Firestore's REST API has a span, with that of its commit`() async throws {
        let collector = try await TraceCollector()
        try await withTemporaryFolder { folder in
            let arguments = ["--trace-endpoint", collector.url, "--trace-sample-ratio", "1"]
            let server = try await EndToEndServer(data: folder.appendingPathComponent("data"), arguments: arguments)
            let body = "-X PATCH -H 'Content-Type: application/json' -d '{\"fields\":{}}'"
            let written = try await curl(server, "/v1/projects/hearth/databases/(default)/documents/a/b", body)
            #expect(written.output.joined().contains("updateTime"), "\(written)")
            #expect(try await server.stop() == .code(0))
            var spans: [TraceSpan] = []
            for await request in collector.requests {
                spans += try TraceSpan.spans(of: request)
                if spans.contains(where: { $0.name.hasPrefix("PATCH ") }) { break }
            }
            #expect(spans.map(\.name).prefix(3) == ["commit", "journal sync", "UpdateDocument"], "\(spans.map(\.name))")
            guard spans.count == 4 else { return }
            #expect(spans[0].parentID == spans[2].spanID && spans[2].parentID == spans[3].spanID)
        }
    }

    @Test
    func `A collector that cannot be reached holds up neither requests nor the end`() async throws {
        let collector = try await TraceCollector()
        try await collector.stop()
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let arguments = ["--trace-endpoint", collector.url, "--trace-sample-ratio", "1"]
            let server = try await EndToEndServer(data: data, arguments: arguments)
            for _ in 0..<20 { #expect(try await curl(server, "/health").output.first == #"{"status":"ok"}"#) }
            #expect(try await server.stop() == .code(0))
            let errors = await server.process.errors.reduce(into: []) { $0.append($1) }
            #expect(errors.contains { $0.contains("Cannot export traces") }, "\(errors)")
        }
    }

    @Test
    func `Spans are counted by the metrics, and none is made without a collector`() async throws {
        let collector = try await TraceCollector()
        try await withTemporaryFolder { folder in
            let headers = folder.appendingPathComponent("headers")
            try "# Of the collector\n\nAuthorization: Bearer topsecret\n".write(to: headers, atomically: true, encoding: .utf8)
            let arguments = [
                "--trace-endpoint", collector.url + "/", "--trace-sample-ratio", "1", "--trace-headers", headers.path,
                "--trace-service-name", "s",
            ]
            let server = try await EndToEndServer(data: folder.appendingPathComponent("data"), arguments: arguments)
            _ = try await curl(server, "/health")
            var requests = collector.requests.makeAsyncIterator()
            let request = try #require(await requests.next())
            #expect(request.path == "/v1/traces" && request.headers["authorization"] == "Bearer topsecret")
            let name = #"hearth_trace_spans_total{outcome="exported"}"#
            var exported = 0.0
            while exported < 1 {
                let line = try await curl(server, "/metrics").output.first { $0.hasPrefix(name) }
                exported = line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
            }
            #expect(try await server.stop() == .code(0))
            let silent = try await EndToEndServer(data: folder.appendingPathComponent("other"))
            _ = try await curl(silent, "/health", "-H 'traceparent: 00-\(Self.traceID)-00f067aa0ba902b7-01'")
            let none = try await curl(silent, "/metrics").output.filter { $0.hasPrefix("hearth_trace_spans_total{") }
            #expect(none.count == 4 && none.allSatisfy { $0.hasSuffix(" 0") }, "\(none)")
            #expect(try await silent.stop() == .code(0))
        }
    }

    @Test
    func `The Swift client sends the trace of its program`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let server = try await EndToEndServer(data: data, arguments: ["--access-log"])
            let tracer = RecordingTracer(sampleRatio: 1) { _ in }
            let traceID = try await withTracer(tracer) {
                let connection = try HearthConnection(server: ServerAddress(server.address))
                let traceID = try await tracer.withSpan("program") { span in
                    _ = try await connection.call("documents.list") { params in
                        params.key("collection")
                        params.string("a")
                    }
                    return "\(span.trace.traceID)"
                }
                await connection.shutdown()
                return traceID
            }
            #expect(try await server.stop() == .code(0))
            let entries = await server.process.errors.reduce(into: []) { $0.append($1) }.filter { $0.contains("documents.list") }
            #expect(entries.count == 1 && entries[0].contains("trace_id=\(traceID) "), "\(entries)")
        }
    }

    @Test(arguments: ["collector:4317", "ftp://c:1", "http://u:secret@c:1", "http://c:1?x=1", "http://", "http://c:1#f"])
    func `An address that is not a collector's is refused`(address: String) async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data").path
            let result = try await hearth("serve", "--data", data, "--port", "0", "--trace-endpoint", address)
            #expect(result.status != .code(0) && result.errorText.contains("--trace-endpoint"), "\(result)")
            #expect(!result.errorText.contains("secret"), "\(result)")
            #expect(!FileManager.default.fileExists(atPath: data))
        }
    }

    @Test
    func `Headers that are not headers are refused, with their line`() async throws {
        try await withTemporaryFolder { folder in
            let headers = folder.appendingPathComponent("headers")
            try "a: b\nno header: x\n".write(to: headers, atomically: true, encoding: .utf8)
            let data = folder.appendingPathComponent("data").path
            let endpoint = "http://127.0.0.1:1"
            let result = try await hearth(
                "serve",
                "--data",
                data,
                "--port",
                "0",
                "--trace-endpoint",
                endpoint,
                "--trace-headers",
                headers.path
            )
            #expect(result.status == .code(1) && result.errorText.contains("line 2"), "\(result)")
        }
    }
}
