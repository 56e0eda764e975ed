import Foundation
import HearthAPI
import PrometheusMetrics
import ServerTestSupport
import TestSupport
import Testing

@Suite("Documentation and alerts of metrics", .timeLimit(.minutes(10)))
struct MetricsDocumentationTests {
    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let promtool = "/usr/bin/promtool"

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.repository.appending(path: path), encoding: .utf8)
    }

    @Test
    func `The manual lists each family, with its meaning, and no other`() async throws {
        let manual = try text("docs/metrics.md")
        let rows = manual.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) }
        }
        try await withServer { server in
            let families = server.context.server.metrics.registry.descriptors
            #expect(rows.map { $0[0] } == families.map(\.name))
            #expect(rows.map { $0[1] } == families.map(\.kind.rawValue))
            #expect(rows.map { $0[$0.count - 1] } == families.map(\.help))
        }
    }

    @Test
    func `Alerts are about families that exist, and the manual says what to do about each`() async throws {
        let alerts = try text("deploy/alerts.yml")
        let manual = try text("docs/metrics.md")
        let tests = try text("deploy/alerts.test.yml")
        let names = alerts.matches(of: /- alert: (\w+)/).map { String($0.1) }
        #expect(names.count >= 18)
        for name in names {
            #expect(manual.contains("### \(name)\n"))
            #expect(alerts.contains("docs/metrics.md#\(name.lowercased())\""))
            #expect(tests.contains("alertname: \(name)\n"))
        }
        try await withServer { server in
            let families = Set(server.context.server.metrics.registry.descriptors.map(\.name))
            for match in alerts.matches(of: /\b(hearth|process)_[a-z_]+\b/) where match.0 != "hearth_" {
                let name = String(match.0).replacing(/_bucket$/, with: "")
                #expect(families.contains(name), "\(name)")
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: promtool)))
    func `Each alert fires, and clears`() throws {
        let tests = Self.repository.appending(path: "deploy/alerts.test.yml").path
        #expect(try ChildProcess.run(Self.promtool, ["test", "rules", tests]) == .code(0))
    }
}
