// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "shared-list",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In a program of your own: .package(url: "https://…/hearth.git", from: "…")
        .package(name: "hearth", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "list",
            dependencies: [.product(name: "HearthClient", package: "hearth")],
            path: "Sources"
        )
    ]
)
