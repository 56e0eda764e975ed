/// A statement of SQL with its parameters. Its text has no values, so that it is prepared once for each connection.
struct EngineStatement {
    let sql: String
    let parameters: [EngineValue]

    init(_ sql: String, _ parameters: EngineValue...) {
        self.init(sql, parameters)
    }

    init(_ sql: String, _ parameters: [EngineValue]) {
        self.sql = sql
        self.parameters = parameters
    }

    /// The size of the values in the binary format.
    var byteCount: Int { parameters.reduce(0) { $0 + $1.byteCount } }
}
