// Keeps the culvert_testing library from being empty while no module has twins.
namespace culvert {}
