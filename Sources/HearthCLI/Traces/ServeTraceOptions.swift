import ArgumentParser
import DocumentModel
import Foundation
import OTLPExport
import UTF8Text

/// Options of `hearth serve` for traces.
struct ServeTraceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            OpenTelemetry collector to which traces of requests are sent, by OTLP over HTTP with JSON: its URL without /v1/traces. \
            Can also be set with OTEL_EXPORTER_OTLP_ENDPOINT. Without it, traces are off.
            """,
            valueName: "url"
        )
    )
    var traceEndpoint: String?

    @Option(
        help: ArgumentHelp(
            """
            Part of the requests that are traced, from 0 to 1. Callers with an API key decide for theirs by the header \
            traceparent. Can also be set with OTEL_TRACES_SAMPLER_ARG.
            """,
            valueName: "ratio"
        )
    )
    var traceSampleRatio = 0.0

    @Option(
        help: ArgumentHelp(
            "Name of this server in traces; hearth by default. Can also be set with OTEL_SERVICE_NAME.",
            valueName: "name"
        )
    )
    var traceServiceName: String?

    @Option(
        help: ArgumentHelp(
            """
            Attribute of this server in traces, such as deployment.environment.name=production. May be repeated. Can also be set with \
            OTEL_RESOURCE_ATTRIBUTES.
            """,
            valueName: "name=value"
        )
    )
    var traceAttribute: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            File with headers for requests to the collector, such as Authorization: Bearer …, one in each line. They can also be set \
            with OTEL_EXPORTER_OTLP_HEADERS.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var traceHeaders: String?

    func validate() throws {
        if let traceEndpoint, Self.url(traceEndpoint) == nil {
            throw ValidationError(
                "--trace-endpoint: Expected the URL of a collector, such as http://127.0.0.1:4318, without credentials, query and "
                    + "fragment. Credentials belong in --trace-headers."
            )
        }
        guard traceHeaders == nil || traceEndpoint != nil else {
            throw ValidationError("--trace-headers requires --trace-endpoint.")
        }
        guard (0...1).contains(traceSampleRatio) else { throw ValidationError("--trace-sample-ratio must be between 0 and 1.") }
        for text in traceAttribute where Self.attribute(text) == nil {
            throw ValidationError(
                "--trace-attribute: \(Excerpt(text)) is not a name and a value, such as deployment.environment.name=production."
            )
        }
    }

    /// Returns the configuration of the export; `nil` if traces are off.
    ///
    /// - Parameters:
    ///   - version: The version of the program.
    ///   - environment: The environment variables. `OTEL_EXPORTER_OTLP_HEADERS` is no option, whose values all users of the machine
    ///     can read.
    /// - Throws: An error for headers that are invalid or cannot be read.
    func export(
        version: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StatusError) -> OTLPExporter.Configuration? {
        // By these variables, OpenTelemetry is turned off for a process.
        guard environment["OTEL_SDK_DISABLED"]?.lowercased() != "true", environment["OTEL_TRACES_EXPORTER"] != "none",
            let url = traceEndpoint.flatMap(Self.url)
        else { return nil }
        var resource = ["service.name": "hearth", "service.version": version]
        for case let (name, value)? in traceAttribute.map(Self.attribute) { resource[name] = value }
        if let traceServiceName { resource["service.name"] = traceServiceName }
        var configuration = OTLPExporter.Configuration(
            url: url,
            resource: resource.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            version: version
        )
        configuration.headers = try headers(environment["OTEL_EXPORTER_OTLP_HEADERS"] ?? "")
        return configuration
    }

    /// Returns the headers of the environment, and those of the file, which replace them.
    private func headers(_ variable: String) throws(StatusError) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        for pair in variable.split(separator: ",") {
            guard let (name, value) = Self.attribute(String(pair)), OTLPExporter.isHeader(name, value) else {
                throw StatusError(
                    .invalidArgument,
                    "The environment variable OTEL_EXPORTER_OTLP_HEADERS is not a list such as api-key=secret,other=value."
                )
            }
            headers.append((name, value))
        }
        guard let traceHeaders else { return headers }
        let text = String(decoding: try InputFile(traceHeaders).readToEnd(maximumBytes: Self.maximumHeaderBytes), as: UTF8.self)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, OTLPExporter.isHeader(parts[0], parts[1]) else {
                throw StatusError(
                    .invalidArgument,
                    "--trace-headers: Expected a header such as Authorization: Bearer ….",
                    file: StatusError.FileLocation(path: traceHeaders, line: index + 1, column: 1)
                )
            }
            headers.append((parts[0], parts[1]))
        }
        return headers
    }

    private static let maximumHeaderBytes = 64 << 10

    /// Returns the URL for traces of a collector; `nil` if the text is not the URL of one.
    private static func url(_ text: String) -> String? {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host?.isEmpty == false, url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
        else { return nil }
        let base = text.hasSuffix("/") ? String(text.dropLast()) : text
        return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }

    /// Returns a name and a value, in which characters may be percent-encoded as in the environment; `nil` if the text is none.
    private static func attribute(_ text: String) -> (name: String, value: String)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let value = String(parts[1]).removingPercentEncoding else { return nil }
        let name = parts[0].trimmingCharacters(in: .whitespaces)
        return name.isEmpty ? nil : (name, value.trimmingCharacters(in: .whitespaces))
    }
}
