import Foundation
import HearthAPI
import PrometheusMetrics
import ServerTestSupport
import TestSupport
import Testing

@Suite("Grafana dashboard", .timeLimit(.minutes(10)))
struct DashboardTests {
    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let generator = repository.appending(path: "deploy/grafana-dashboard").path
    private static let promtool = "/usr/bin/promtool"

    /// The parts of a dashboard that the tests look at.
    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable {
                let expr: String
            }
            struct Position: Decodable {
                let x: Int, y: Int, w: Int, h: Int
            }
            let id: Int
            let type: String
            let title: String
            let description: String?
            let gridPos: Position
            let targets: [Target]?
        }
        let panels: [Panel]

        var expressions: [String] { panels.flatMap { ($0.targets ?? []).map(\.expr) } }
    }

    private func committed() throws -> Data {
        try Data(contentsOf: Self.repository.appending(path: "deploy/grafana-dashboard.json"))
    }

    private func dashboard() throws -> Dashboard {
        try JSONDecoder().decode(Dashboard.self, from: committed())
    }

    /// Runs the generator. Returns its exit status, its output and its errors.
    private func generate(from metrics: String) throws -> (ChildProcess.ExitStatus, output: Data, errors: String) {
        let folder = try TemporaryFolder()
        try folder.write(metrics, to: "metrics")
        try folder.write("", to: "output")
        try folder.write("", to: "errors")
        let status = try ChildProcess(
            Self.generator,
            [],
            input: FileHandle(forReadingFrom: URL(filePath: folder["metrics"])),
            output: FileHandle(forWritingTo: URL(filePath: folder["output"])),
            errors: FileHandle(forWritingTo: URL(filePath: folder["errors"]))
        ).wait()
        let errors = try String(contentsOfFile: folder["errors"], encoding: .utf8)
        return (status, try Data(contentsOf: URL(filePath: folder["output"])), errors)
    }

    /// The metrics of a server, and the names of its families.
    private func withMetrics(_ body: @escaping @Sendable (_ text: String, _ names: [String]) throws -> Void) async throws {
        try await withServer { server in
            let registry = server.context.server.metrics.registry
            let names = registry.descriptors.map(\.name).filter { $0.hasPrefix("hearth_") || $0.hasPrefix("process_") }
            try body(String(decoding: registry.text(), as: UTF8.self), names)
        }
    }

    @Test
    func `The committed dashboard is the one that is generated from the metrics of a server`() async throws {
        try await withMetrics { text, _ in
            let (status, output, errors) = try generate(from: text)
            #expect(status == .code(0), "\(errors)")
            let committed = try committed()
            #expect(output == committed, "curl --fail URL/metrics | deploy/grafana-dashboard > deploy/grafana-dashboard.json")
        }
    }

    @Test
    func `Each family is in a panel that explains it, and each panel shows families that exist`() async throws {
        let dashboard = try dashboard()
        try await withMetrics { _, names in
            var shown: Set<String> = []
            for panel in dashboard.panels where panel.type != "row" {
                #expect(panel.targets?.isEmpty == false, "\(panel.title)")
                for expression in (panel.targets ?? []).map(\.expr) {
                    for match in expression.matches(of: /\b(hearth|process)_[a-z_]+\b/) {
                        let name = String(match.0).replacing(/_bucket$/, with: "")
                        #expect(names.contains(name), "\(name)")
                        #expect(panel.description?.contains("`\(name)`: ") == true, "\(panel.title): \(name)")
                        shown.insert(name)
                    }
                }
            }
            #expect(Set(names).subtracting(shown).isEmpty)
        }
    }

    @Test
    func `A family that is in no panel is an error, and so is input that isn't metrics`() async throws {
        try await withMetrics { text, _ in
            let (status, _, errors) = try generate(from: text + "# HELP hearth_new_total New.\n# TYPE hearth_new_total counter\n")
            #expect(status == .code(1))
            #expect(errors.contains("hearth_new_total"))
        }
        let (status, output, _) = try generate(from: "404")
        #expect(status == .code(1))
        #expect(output.isEmpty)
    }

    @Test
    func `Panels fit in the grid, and none lies on another`() throws {
        let panels = try dashboard().panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        #expect(panels.filter { $0.type == "row" }.count == 10)
        var cells: Set<[Int]> = []
        for panel in panels {
            let position = panel.gridPos
            #expect(position.x + position.w <= 24, "\(panel.title)")
            for x in position.x..<(position.x + position.w) {
                for y in position.y..<(position.y + position.h) { #expect(cells.insert([x, y]).inserted, "\(panel.title)") }
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: promtool)))
    func `Prometheus can parse the query of each panel`() throws {
        let rules = try dashboard().expressions.enumerated().map { index, expression in
            ["record": "panel:query\(index)", "expr": expression.replacing("$__rate_interval", with: "5m")]
        }
        #expect(rules.count > 50)
        let folder = try TemporaryFolder()
        // JSON is YAML, too.
        let groups = ["groups": [["name": "panels", "rules": rules] as [String: Any]]]
        let file = try JSONSerialization.data(withJSONObject: groups, options: .withoutEscapingSlashes)
        try folder.write(Array(file), to: "rules.yml")
        let status = try withExtendedLifetime(folder) {
            try ChildProcess.run(Self.promtool, ["check", "rules", folder["rules.yml"]])
        }
        #expect(status == .code(0))
    }
}
