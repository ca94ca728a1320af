"""What is known of providers: where their keys usually lie, and under which name the price table lists them."""

from __future__ import annotations

KEY_VARIABLES: dict[str, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "azure_openai": "AZURE_OPENAI_API_KEY",
    "cohere": "COHERE_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "google_genai": "GOOGLE_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "nvidia": "NVIDIA_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "perplexity": "PPLX_API_KEY",
    "together": "TOGETHER_API_KEY",
    "xai": "XAI_API_KEY",
}
"""Provider -> the variable that its LangChain package reads; providers that are missing here sign in their own way."""

PRICED_AS: dict[str, str] = {
    "anthropic": "anthropic",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "google_genai": "google",
    "google_vertexai": "google",
    "groq": "groq",
    "mistralai": "mistral",
    "openai": "openai",
    "openrouter": "openrouter",
    "perplexity": "perplexity",
    "together": "together",
    "xai": "x-ai",
}
"""LangChain's name of a provider -> its id in genai-prices."""
